import { queryBuilder } from '@perdure/storage'
import type { Schema } from './own-tables.ts'

/** Builds queries of tables and columns that only PostgreSQL has. */
export const from = queryBuilder<Schema>()
