import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { cliError } from './cli-error.ts'
import { watchInterruptions } from './interruptions.ts'
import { runCli } from './run-cli.ts'
import type { Terminal } from './terminal.ts'

/** Runs the command line of this process and ends the process with its exit code. */
export async function main(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  const exitCode = await runCli(process.argv.slice(2), processTerminal())
  await Promise.all([flush(process.stdout), flush(process.stderr)])
  process.exit(exitCode)
}

function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  return {
    env: process.env,
    cwd: process.cwd(),
    isInteractive: stdin.isTTY === true && stdout.isTTY === true,
    stdout,
    stderr,
    ask,
    readInput: () => text(stdin),
    watchInterruptions: (isAccountedFor) =>
      watchInterruptions(process, { monotonicMs: () => performance.now(), isAccountedFor }),
  }
}

/** Asks on stderr; Ctrl-C and the end of the input are an interruption. */
async function ask(question: string): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const left = new Promise<never>((_, reject) => lines.once('close', reject))
  try {
    return await Promise.race([lines.question(question), left])
  } catch {
    throw cliError('interrupted', { message: 'interrupted', hint: 'nothing was done', exit: 'interrupted' })
  } finally {
    lines.close()
  }
}

/** A reader that has seen enough, as in `berth token list | head`, is no failure. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

const flush = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve()
    else stream.write('', () => resolve())
  })
