"""What reads laid on sequences say of them: bases, breaks, ends, depth."""
