import type { ExitName } from './exit-codes.ts'

/** An error of the command line itself. Ports, core and storage throw errors of their own types. */
export interface CliError extends Error {
  readonly kind: string
  readonly hint: string
  readonly exit: ExitName
}

const NAME = 'CliError'

export const cliError = (kind: string, details: Pick<CliError, 'message' | 'hint' | 'exit'>): CliError => {
  const { message, hint, exit } = details
  return Object.assign(new Error(message), { name: NAME, kind, hint, exit })
}

export const usageError = (message: string, hint: string): CliError =>
  cliError('usage', { message, hint, exit: 'usage' })

export const isCliError = (error: unknown): error is CliError => error instanceof Error && error.name === NAME
