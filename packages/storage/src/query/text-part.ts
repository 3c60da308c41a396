import type { Program } from '../program.ts'
import type { Db } from './dialect.ts'
import type { TextPart } from './text-ref.ts'

export function* readTextPart(db: Db, part: TextPart): Program<Uint8Array | undefined> {
  return yield* db.textPart(part)
}
