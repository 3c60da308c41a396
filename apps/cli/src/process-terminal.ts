import { cliError } from './cli-error.ts'
import { watchInterruptions } from './interruptions.ts'
import type { Terminal } from './terminal.ts'

/**
 * Ignores EPIPE, so that `perdure token list | head` does not fail. Ignores every error of stderr, because it could not
 * be reported anywhere.
 */
export function allowClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
  })
  process.stderr.on('error', () => undefined)
}

/** The terminal of this process. Modules that only some commands need are imported on first use. */
export function processTerminal(): Terminal {
  const { stdout, stderr } = process
  return {
    env: process.env,
    cwd: process.cwd(),
    get isInteractive() {
      return process.stdin.isTTY === true && stdout.isTTY === true
    },
    stdout,
    stderr,
    ask,
    readInput: async () => (await import('node:stream/consumers')).text(process.stdin),
    readLines,
    readKeys,
    watchInterruptions: (isHandled) => watchInterruptions(process, { monotonicMs: () => performance.now(), isHandled }),
  }
}

/** Prompts on stderr. Ctrl-C and the end of the input throw `interrupted`. */
async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const closed = new Promise<never>((_, reject) => lines.once('close', reject))
  try {
    return await Promise.race([lines.question(question), closed])
  } catch {
    throw cliError('interrupted', { message: 'interrupted', hint: 'run the command again', exit: 'interrupted' })
  } finally {
    lines.close()
  }
}

/** Only a line feed ends a line: JSON texts contain the other line separators of Unicode. */
async function readLines(onLine: (line: string) => void): Promise<void> {
  let rest = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
  if (rest !== '') onLine(rest)
}

function readKeys(onKey: (key: string) => void): () => void {
  const { stdin } = process
  const onData = (chunk: string) => {
    for (const key of chunk) onKey(key)
  }
  stdin.setRawMode(true).setEncoding('utf8').on('data', onData)
  return () => {
    stdin.off('data', onData).setRawMode(false).pause()
  }
}
