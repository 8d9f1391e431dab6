internal import AppStore
