"""What the consoles share: commands, the loop that reads them, the ledger, and the screen."""
