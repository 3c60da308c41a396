import { AppError } from '@berth/ports'
import { CommanderError } from 'commander'

/** What stdout holds when a command with `--json` fails. `kind` repeats `error` for readers of start errors. */
export interface ErrorReport {
  readonly error: string
  readonly kind: string
  readonly message: string
  readonly hint?: string
}

export function reportOf(error: unknown): ErrorReport {
  if (error instanceof CommanderError) return usageReport(error)
  const kind = identifierOf(error)
  const message = error instanceof Error ? error.message : String(error)
  const hint = (error as { hint?: unknown } | undefined)?.hint
  return typeof hint === 'string' ? { error: kind, kind, message, hint } : { error: kind, kind, message }
}

/** `error[<kind>]: message`, the hint, and the reason beneath; the stack of an error without an identifier. */
export function reportText(error: unknown): string {
  const { kind, message, hint } = reportOf(error)
  const lines = [`error[${kind}]: ${message}`]
  if (hint !== undefined) lines.push(`  hint: ${hint}`)
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && !message.includes(cause.message)) lines.push(`  cause: ${cause.message}`)
  if (kind === 'unknown' && error instanceof Error && error.stack) lines.push(stackLines(error.stack))
  return `${lines.join('\n')}\n`
}

function identifierOf(error: unknown): string {
  if (error instanceof AppError) return error.id
  const { code, kind } = (error ?? {}) as { code?: unknown; kind?: unknown }
  const id = [code, kind].find((value) => typeof value === 'string' && value !== '')
  return typeof id === 'string' ? id : 'unknown'
}

/** commander writes `error: …` and puts its proposal on a second line. */
function usageReport({ message }: CommanderError): ErrorReport {
  const [first = '', proposal] = message.replace(/^error: /, '').split('\n')
  const hint = proposal?.replace(/^\((.*)\)$/, '$1') ?? 'see berth --help'
  return { error: 'usage', kind: 'usage', message: first, hint }
}

const stackLines = (stack: string): string =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .join('\n')
