import { meta } from './0001-meta.ts'
import { runs } from './0002-runs.ts'
import { events } from './0003-events.ts'
import { idempotency } from './0004-idempotency.ts'
import { sessions } from './0005-sessions.ts'
import { tokens } from './0006-tokens.ts'
import type { Migration } from './migration.ts'

/** Every step of the schema, in order. Append only. */
export const MIGRATIONS: readonly Migration[] = [meta, runs, events, idempotency, sessions, tokens]
