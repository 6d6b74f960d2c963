"""What is said between plan and model: intake, tool sets, phrasing, reminders, the toolbox."""
