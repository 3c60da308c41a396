import { createInterface } from 'node:readline/promises'

export interface Prompt {
  /** Resolves with what the user types, without white space around it. Ends the process with 130 on Ctrl-C or Ctrl-D. */
  ask(question: string): Promise<string>
  close(): void
}

export function createPrompt(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): Prompt {
  const terminal = createInterface({ input, output })
  const cancel = () => process.exit(INTERRUPTED)
  terminal.once('SIGINT', cancel).once('close', cancel)
  return {
    ask: async (question) => (await terminal.question(question)).trim(),
    close() {
      terminal.off('close', cancel)
      terminal.close()
    },
  }
}

const INTERRUPTED = 130
