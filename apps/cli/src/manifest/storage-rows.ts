import * as v from 'valibot'
import type { ArgumentSpec } from './command-spec.ts'

/** Exit codes of commands that open the database themselves, so that they work before the first start and beside a server. */
export const OPENING = ['unreachable', 'storageFault'] as const

export const BACKUP: ArgumentSpec = { name: 'file', note: 'path of the backup' }
export const AuditState = v.optional(v.unknown())
export const Problems = v.array(v.string())
