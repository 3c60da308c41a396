/**
 * A stretch of the history of a database, from the moment at which a server became the primary. Two standbys of one
 * primary that are both promoted have the same timeline, but not the same lineage.
 */
export interface Lineage {
  /** Random. The first process that writes after the promotion chooses it. */
  readonly id: string
  /** As in the name of a file of the write-ahead log. */
  readonly timeline: string
}

/** A process that has seen none of the newest ones must be told to forget what it has seen. */
const MAX_LINEAGES = 100

/** Name of the row of the table `meta` that lists the lineages of the database, oldest first. */
export const LINEAGES = 'lineages'

export const parseLineages = (text: string | null | undefined): readonly Lineage[] =>
  text === null || text === undefined ? [] : (JSON.parse(text) as readonly Lineage[])

export const withLineage = (lineages: readonly Lineage[], next: Lineage): string =>
  JSON.stringify([...lineages, next].slice(-MAX_LINEAGES))
