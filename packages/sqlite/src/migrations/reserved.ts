import type { Migration } from './migration.ts'

/** Keeps the place of a migration that another line of work brings. */
export const reserved = (version: number): Migration => ({ version, name: `reserved-${version}`, sql: '' })
