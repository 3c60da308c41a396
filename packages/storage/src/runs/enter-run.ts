import type { Program } from '../program.ts'
import type { Db } from '../query/dialect.ts'

/** Makes the id of a run known, before the first row that refers to it. */
export function* enterRun(db: Db, id: string): Program<void> {
  const { enter } = db.dialect.run
  if (enter !== undefined) yield* db.run(enter, { id })
}

/** Forgets the id of a run, after the last row that referred to it was deleted. */
export function* leaveRun(db: Db, id: string): Program<void> {
  const { leave } = db.dialect.run
  if (leave !== undefined) yield* db.run(leave, { id })
}
