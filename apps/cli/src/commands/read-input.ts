import { usageError } from '../cli-error.ts'
import { readSource } from '../read-source.ts'
import type { Terminal } from '../terminal.ts'

/**
 * Reads the value of `--input`, `--payload` and similar flags: `@file` reads a file and `-` stdin. Text that starts
 * with `{`, `[` or `"` must be valid JSON; numbers, booleans and null are parsed as JSON; anything else is text.
 */
export async function readInput(terminal: Terminal, flag: string, value: string | undefined): Promise<unknown> {
  if (value === undefined) return undefined
  const text = await readSource(terminal, flag, value)
  if (!/^\s*(?:[[{"]|-?\d|true|false|null)/.test(text)) return text.replace(/\n$/, '')
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!/^\s*[[{"]/.test(text)) return text.replace(/\n$/, '')
    throw usageError(
      `--${flag} is not JSON: ${(error as Error).message}`,
      `fix the JSON, or pass text that does not start with {, [ or "`,
    )
  }
}
