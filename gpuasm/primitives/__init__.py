"""What arrays lack: indices by hashing, walks by list ranking."""
