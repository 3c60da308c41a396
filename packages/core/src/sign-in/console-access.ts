import { type ConsoleSessions, type ConsoleSessionsDeps, createConsoleSessions } from './console-sessions.ts'
import { createProviderSignIn, type ProviderSignIn, type ProviderSignInDeps } from './provider-sign-in.ts'

/** The ways into the console, and out of it. */
export interface ConsoleAccess {
  readonly consoleSessions: ConsoleSessions
  readonly providerSignIn: ProviderSignIn
}

export const createConsoleAccess = (deps: ConsoleSessionsDeps & ProviderSignInDeps): ConsoleAccess => ({
  consoleSessions: createConsoleSessions(deps),
  providerSignIn: createProviderSignIn(deps),
})
