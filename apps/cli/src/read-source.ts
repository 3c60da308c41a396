import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from './cli-error.ts'
import type { Terminal } from './terminal.ts'

/** Reads the text that the value of a flag names: `-` is stdin and `@file` a file; any other value is the text itself. */
export async function readSource(terminal: Terminal, flag: string, value: string): Promise<string> {
  if (value === '-') return terminal.readInput()
  if (!value.startsWith('@')) return value
  const path = resolve(terminal.cwd, value.slice(1))
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageError(`--${flag}: ${path} cannot be read (${error.code})`, 'check the path after @')
  })
}
