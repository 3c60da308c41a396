import { FROM_0001 } from './from-0001.ts'
import { FROM_0003 } from './from-0003.ts'
import { FROM_0005 } from './from-0005.ts'
import { FROM_0015 } from './from-0015.ts'
import type { Migration } from './migration.ts'

/** Every migration, in order. Append only. */
export const MIGRATIONS: readonly Migration[] = [...FROM_0001, ...FROM_0003, ...FROM_0005, ...FROM_0015]
