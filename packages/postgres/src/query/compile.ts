import { queryBuilder } from '@perdure/storage'
import type { Schema } from './schema.ts'

/** Builds queries of tables and columns that only PostgreSQL has. */
export const from = queryBuilder<Schema>()
