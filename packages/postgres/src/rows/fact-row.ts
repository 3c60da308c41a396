import type { FactRecord } from '@perdure/ports'
import {
  CHANGING_FACT_COLUMNS as CHANGING,
  FACT_COLUMNS as COMMON,
  toFact as fromCommon,
  toFactRow as toCommonRow,
} from '@perdure/sql'
import type { Selectable } from 'kysely'
import type { FactTable } from '../query/schema.ts'
import { indexedWords } from './indexed-words.ts'

export type FactRow = Selectable<FactTable>
export type NewFactRow = Omit<FactTable, 'key' | 'embedded_by'>

export const CHANGING_FACT_COLUMNS = [...CHANGING, 'tags', 'words'] as const

export const FACT_COLUMNS = [...COMMON, 'tags', 'words'] as const

export const toFactRow = (fact: FactRecord): NewFactRow => ({
  ...toCommonRow(fact),
  tags: fact.tags,
  words: indexedWords(fact.text),
})

export const toFact = (row: FactRow): FactRecord => fromCommon(row, row.tags)
