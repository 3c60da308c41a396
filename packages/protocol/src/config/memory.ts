import { field, section } from './section.ts'
import { count, milliseconds, within } from './values.ts'

export const MemorySection = section({
  maxFactBytes: field(within(1, 65_536), 16_384, { note: 'Maximum length of the text of a fact, in bytes.' }),
  blockLimit: field(count(1), 2_000, {
    note: 'Maximum number of characters in a block that has no limit of its own.',
  }),
  similarityPercent: field(within(50, 100), 70, {
    note: 'Share of words that two facts must have in common to count as near-duplicates, in percent.',
  }),
  vectorCandidates: field(within(1, 100_000), 5_000, {
    note: 'Maximum number of facts whose vectors a search compares, newest first.',
  }),
  embedTimeoutMs: field(milliseconds(1), 5_000, {
    note: 'How long the embedder may take, in milliseconds; after that, search falls back to words alone.',
  }),
})
