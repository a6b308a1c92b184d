"""What is in the data: labels, missing values, proxies, who is represented."""
