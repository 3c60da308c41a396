import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { usageError } from '../cli-error.ts'
import type { Terminal } from '../terminal.ts'

/**
 * What `--input`, `--payload` and the like stand for: `@file` and `-` are read; what begins like JSON is JSON and must be;
 * everything else is text.
 */
export async function readInput(terminal: Terminal, flag: string, value: string | undefined): Promise<unknown> {
  if (value === undefined) return undefined
  const text = await textOf(terminal, flag, value)
  if (!/^\s*(?:[[{"]|-?\d|true|false|null)/.test(text)) return text.replace(/\n$/, '')
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!/^\s*[[{"]/.test(text)) return text.replace(/\n$/, '')
    throw usageError(
      `--${flag} is not JSON: ${(error as Error).message}`,
      `correct it, or give text that does not begin like JSON`,
    )
  }
}

async function textOf(terminal: Terminal, flag: string, value: string): Promise<string> {
  if (value === '-') return terminal.readInput()
  if (!value.startsWith('@')) return value
  const path = resolve(terminal.cwd, value.slice(1))
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usageError(`--${flag}: ${path} cannot be read (${error.code})`, 'check the path behind @')
  })
}
