import {
  EVERY_ROW,
  type ListedRun,
  type RunContent,
  type RunFilter,
  type RunStore,
  type Visibility,
} from '@perdure/ports'
import { eachItem } from '../collections/each-item.ts'

const PAGE = 200

export interface EachRunOptions<Content extends RunContent> {
  readonly visibility?: Visibility | undefined
  /** The large members to read; without this member, all of them. */
  readonly content?: readonly Content[] | undefined
}

/**
 * Iterates over the matching runs, oldest first, and reads them page by page: by default the runs of every owner, with
 * all their members.
 */
export function eachRun<Content extends RunContent = RunContent>(
  runs: Pick<RunStore, 'list'>,
  filter: RunFilter,
  { visibility = EVERY_ROW, content }: EachRunOptions<Content> = {},
): AsyncGenerator<ListedRun<Content>, void, void> {
  return eachItem((cursor) => runs.list(filter, { limit: PAGE, order: 'asc', cursor, content }, visibility))
}
