"""Parameters that a config may set for classes that accept any keyword."""

from __future__ import annotations

from typing import Any

from ..errors import ConfigError, shown
from ..extensions import own_objects
from .packages import descriptions_in, is_description

# XGBoost's and LightGBM's classifiers accept any keyword, even a misspelt one, and some parameters of LightGBM
# read and write files or open ports.  A config may set the parameters of their signatures and these keywords.
KEYWORDS = frozenset(
    """
    bagging_fraction bagging_freq bagging_seed bin_construct_sample_cnt boost_from_average cat_l2 cat_smooth
    colsample_bynode data_sample_strategy deterministic drop_rate drop_seed extra_seed extra_trees
    feature_fraction feature_fraction_bynode feature_fraction_seed feature_pre_filter force_col_wise
    force_row_wise interaction_constraints is_unbalance lambda_l1 lambda_l2 linear_lambda linear_tree
    max_bin max_cat_threshold max_cat_to_onehot max_delta_step max_drop min_data_in_bin min_data_in_leaf
    min_data_per_group min_gain_to_split min_sum_hessian_in_leaf monotone_constraints neg_bagging_fraction
    normalize_type num_grad_quant_bins one_drop other_rate path_smooth pos_bagging_fraction
    quant_train_renew_leaf rate_drop refit_decay_rate sample_type scale_pos_weight seed sigmoid skip_drop
    stochastic_rounding top_rate uniform_drop use_missing use_quantized_grad verbose verbosity
    xgboost_dart_mode zero_as_missing
    """.split()  # noqa: SIM905 - a list of words
)

# Parameters that are forbidden at any depth of a description, also in the grid of a search: scikit-learn's
# pickle cache, the `input` of its vectorisers, which may be file names, and all names and aliases of LightGBM's
# parameters for files, hosts and ports.
FORBIDDEN = frozenset(
    """
    memory config config_file convert_model convert_model_file data data_filename forced_splits
    forced_splits_file forced_splits_filename forcedbins_filename forcedsplits_filename fs init_score_file
    init_score_filename initscore_filename input input_init_score input_model is_save_binary is_save_binary_file
    local_listen_port local_port machine_list machine_list_file machine_list_filename machines mlist
    model_in model_input model_out model_output name_pred nodes num_machine num_machines output_model
    output_result parser_config_file port pred_name predict_name predict_result prediction_name
    prediction_result save_binary save_period snapshot_freq test test_data test_data_file train
    train_data train_data_file valid valid_data valid_data_file valid_filenames workers
    """.split()  # noqa: SIM905 - a list of words
)

# Modules of estimators whose parameters never reach LightGBM.
APART = ("catboost", "sklearn.compose", "sklearn.feature_extraction", "sklearn.impute", "sklearn.preprocessing")

THREADS = frozenset({"n_jobs", "nthread", "nthreads", "num_thread", "num_threads", "thread_count"})


def check_lightgbm_text(params: Any, context: str) -> None:
    """Check strings among the parameters of a model that contains LightGBM.

    LightGBM parses its parameters from one string of ``name=value`` pairs, separated by blanks, and removes
    quotes.  A name or value with white space, a quote or an equals sign could set other parameters, including
    those that read files.

    Parameters
    ----------
    params : JSON value
        Parameters from the config, or a description with them.  Text of the modules in `APART`, such as names
        of columns, is not checked.
    context : str
        Prefix of error messages.

    Raises
    ------
    ConfigError
        If a string or a key contains white space, a quote or an equals sign.
    """
    if isinstance(params, str) and any(c in "='\"" or c.isspace() for c in params):
        raise ConfigError(
            f"{context}: text for LightGBM must not contain blanks, quotes or '=', got {shown(params)}"
        )
    if own_objects.is_reference(params):  # whose text never reaches LightGBM
        return
    if is_description(params) and params["module"].startswith(APART):
        for nested in descriptions_in(params.get("params", {})):
            check_lightgbm_text(nested, context)
        return
    if isinstance(params, dict | list):
        for item in [*params, *params.values()] if isinstance(params, dict) else params:
            check_lightgbm_text(item, context)
