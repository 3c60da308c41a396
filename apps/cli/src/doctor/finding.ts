import * as v from 'valibot'
import type { Paint } from '../output/paint.ts'

/** How the commands print a finding. */
export const PrintedFinding = v.object({
  check: v.string(),
  status: v.picklist(['ok', 'warn', 'fail']),
  message: v.string(),
  /** How to solve the problem; every failure has a fix. */
  fix: v.optional(v.string()),
})

/** The result of one check of `perdure doctor` or `perdure upgrade`. */
export interface Finding extends Readonly<v.InferOutput<typeof PrintedFinding>> {
  /** Applies the fix and returns what was done. Only for fixes that cannot lose data. */
  readonly repair?: () => Promise<string>
}

const MARKS = { ok: '✓', warn: '!', fail: '✗' } as const
const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const

export const ok = (check: string, message: string): Finding => ({ check, status: 'ok', message })

export const warn = (check: string, message: string, fix?: string): Finding =>
  fix === undefined ? { check, status: 'warn', message } : { check, status: 'warn', message, fix }

export const fail = (check: string, message: string, fix: string): Finding => ({ check, status: 'fail', message, fix })

/** A failure from a thrown error. The fix is the hint of the error, or `otherwise` if the error has no hint. */
export function failFrom(check: string, error: unknown, otherwise: string): Finding {
  const { message, hint } = (error ?? {}) as { message?: unknown; hint?: unknown }
  return fail(check, typeof message === 'string' ? message : String(error), typeof hint === 'string' ? hint : otherwise)
}

/** Names the migrations that a database needs. */
export const pendingText = (pending: readonly { readonly version: number; readonly name: string }[]): string =>
  `pending migrations: ${pending.map(({ version, name }) => `${version} ${name}`).join(', ')}`

export function findingText({ check, status, message, fix }: Finding, paint: Paint = (_, text) => text): string {
  const line = `${paint(COLOURS[status], MARKS[status])} ${check.padEnd(8)} ${message}\n`
  return fix === undefined ? line : `${line}    fix: ${fix}\n`
}
