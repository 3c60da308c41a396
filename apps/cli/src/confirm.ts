import { cliError, usageError } from './cli-error.ts'
import type { Terminal } from './terminal.ts'

interface Confirmation {
  /** Whether the command was called with `--yes`. */
  readonly yes?: boolean | undefined
  /** The command and why it asks, such as `runs retry asks before it retries many runs`. */
  readonly why: string
  readonly question: string
  /** The state of the server after a no, such as `nothing was retried`. */
  readonly refused: string
}

/** Asks before a command continues. @throws CliError if the answer is not yes, or if there is no terminal to ask on */
export async function confirm(
  terminal: Pick<Terminal, 'isInteractive' | 'ask'>,
  { yes = false, why, question, refused }: Confirmation,
): Promise<void> {
  if (yes) return
  if (!terminal.isInteractive) throw usageError(`${why}, and there is no terminal`, 'add --yes')
  const answer = await terminal.ask(`${question} [y/N] `)
  if (/^y(?:es)?$/i.test(answer.trim())) return
  throw cliError('cancelled', { message: refused, hint: 'run the command again and answer y', exit: 'failed' })
}
