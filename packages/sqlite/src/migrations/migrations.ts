import { FROM_0001 } from './from-0001.ts'
import { FROM_0013 } from './from-0013.ts'
import { FROM_0020 } from './from-0020.ts'
import { FROM_0024 } from './from-0024.ts'
import { FROM_0032 } from './from-0032.ts'
import type { Migration } from './migration.ts'

/** Every migration, in order. Append only. */
export const MIGRATIONS: readonly Migration[] = [...FROM_0001, ...FROM_0013, ...FROM_0020, ...FROM_0024, ...FROM_0032]
