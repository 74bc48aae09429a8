"""Chemistry: molecules, described by RDKit."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ..downloads.raw_files import RawFiles, needed
from .table import Labelled

DESCRIPTORS = (
    "MolWt", "HeavyAtomMolWt", "NumValenceElectrons", "TPSA", "LabuteASA", "MolLogP", "MolMR", "FractionCSP3",
    "HeavyAtomCount", "NHOHCount", "NOCount", "NumAliphaticCarbocycles", "NumAliphaticHeterocycles",
    "NumAromaticCarbocycles", "NumAromaticHeterocycles", "NumHAcceptors", "NumHDonors", "NumHeteroatoms",
    "NumRotatableBonds", "RingCount", "BalabanJ", "BertzCT", "Chi0v", "Chi1v", "Chi2v", "Kappa1", "Kappa2",
    "Kappa3", "HallKierAlpha", "PEOE_VSA1", "PEOE_VSA6", "PEOE_VSA7", "SMR_VSA5", "SMR_VSA7", "SlogP_VSA2",
    "SlogP_VSA5", "SlogP_VSA6", "EState_VSA4", "EState_VSA8", "fr_NH0", "fr_NH1", "fr_C_O", "fr_ester",
    "fr_amide", "fr_halogen", "fr_bicyclic",
)  # fmt: skip
RADIUS, BITS = 2, 64  # of Morgan fingerprints
SCREENED = 10_000
PASSES = "BBB+"


def build_brain(raw: RawFiles) -> Labelled:
    """Molecules that pass into the brain: by one publication against the consensus of fifty."""
    consensus = raw.read_csv(".tsv", sep="\t").dropna(subset="CID").drop_duplicates("CID").set_index("CID")
    needed("xlrd")
    source = pd.read_excel(raw.find(".xls"), engine="xlrd")
    source["CID"] = pd.to_numeric(source["CID"], errors="coerce")
    is_known = source["BBB+/BBB-"].isin(["BBB+", "BBB-"]) & source["CID"].isin(consensus.index)
    source = source[is_known].drop_duplicates("CID")
    consensus = consensus.loc[source["CID"]].reset_index(drop=True)
    given, checked = ((table["BBB+/BBB-"] == PASSES).to_numpy() for table in (source, consensus))
    return Labelled(describe_molecules(consensus["SMILES"]), {"source": given}, checked)


def build_screening(raw: RawFiles) -> Labelled:
    """Molecules that act on a receptor: hit of a first screen against a confirmatory one.

    All molecules of both screens are used, and so many others that the first screen found inactive, which are
    taken to be so.
    """
    table = raw.read_csv(index_col=0)
    confirmed = table[table["Confirmatory"].notna()]
    inactive = table[table["Confirmatory"].isna() & (table["Primary"] == 0)]
    drawn = inactive.sample(SCREENED - len(confirmed), random_state=0)
    table = pd.concat([confirmed, drawn]).sort_index()
    X = describe_molecules(table["SMILES"])
    return Labelled(X, {"primary": table["Primary"]}, table["Confirmatory"].fillna(0))


def describe_molecules(smiles: pd.Series) -> pd.DataFrame:
    """Descriptors and counts of Morgan fingerprints; missing for molecules that RDKit cannot read."""
    chem, descriptors = needed("rdkit.Chem"), needed("rdkit.Chem.Descriptors")
    fingerprints = needed("rdkit.Chem.rdFingerprintGenerator")
    needed("rdkit.RDLogger").DisableLog("rdApp.*")
    by_name = dict(descriptors.descList)
    functions = [by_name[name] for name in DESCRIPTORS]
    generator = fingerprints.GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    rows = np.full((len(smiles), len(DESCRIPTORS) + BITS), np.nan)
    for row, text in zip(rows, smiles, strict=True):
        molecule = chem.MolFromSmiles(text) if isinstance(text, str) else None
        if molecule is not None:
            row[: len(DESCRIPTORS)] = [function(molecule) for function in functions]
            row[len(DESCRIPTORS) :] = generator.GetCountFingerprintAsNumPy(molecule)
    return pd.DataFrame(rows, smiles.index, [*DESCRIPTORS, *(f"morgan_{bit}" for bit in range(BITS))])
