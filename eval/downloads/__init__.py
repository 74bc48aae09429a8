"""Files of public repositories, downloaded and checked, and tables made of them."""
