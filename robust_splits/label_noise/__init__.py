"""Label noise: estimates of it, and the labels, weights and folds that they need."""
