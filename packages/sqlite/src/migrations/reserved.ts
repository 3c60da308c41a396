import type { Migration } from './migration.ts'

/** A version that changes nothing. */
export const reserved = (version: number): Migration => ({ version, name: `reserved-${version}`, sql: 'SELECT 1' })
