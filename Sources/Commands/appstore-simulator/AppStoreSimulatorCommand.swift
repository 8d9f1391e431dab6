import ArgumentParser

@main
struct AppStoreSimulatorCommand: ParsableCommand {}
