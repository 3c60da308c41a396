import type { RunFilter, RunRecord } from './run-store.ts'

/** Values of a run that are not in its record, by which runs can be listed. */
export interface RunLabels {
  readonly tags?: readonly string[] | undefined // of the registration that the run executes
  readonly startKey?: string | undefined // idempotency key of the request that repeated a run or fired a trigger
}

/** A value by which runs can be listed, such as `['metadata.ticket', '17']`. */
export type RunField = readonly [field: string, value: string]

/** The fields that a run has from its start. */
export const startFields = (
  { metadata, userId, version, flow }: RunRecord,
  { tags = [], startKey }: RunLabels = {},
): RunField[] => [
  ...metadataFields(metadata),
  ...field('userId', userId),
  ...field('version', version),
  ...[...new Set(tags)].flatMap((tag) => field('tag', tag)),
  ...field('startKey', startKey),
  ...field('debounce', flow?.debounce),
]

/** The fields that a run gets when it ends. A completed run has none, because a list filters those by their status. */
export const endFields = ({ finishReason, error }: Partial<Pick<RunRecord, 'finishReason' | 'error'>>): RunField[] => [
  ...field('finishReason', finishReason === 'completed' ? undefined : finishReason),
  ...field('code', error?.code),
]

/** The fields that a run must have to match the filter. */
export const filterFields = ({
  metadata = {},
  userId,
  version,
  tag,
  finishReason,
  code,
  startKey,
  debounce,
}: RunFilter): RunField[] => [
  ...metadataFields(metadata),
  ...field('code', code),
  ...field('userId', userId),
  ...field('version', version),
  ...field('tag', tag),
  ...field('finishReason', finishReason === 'completed' ? undefined : finishReason),
  ...field('startKey', startKey),
  ...field('debounce', debounce),
]

const metadataFields = (metadata: Readonly<Record<string, string>>): RunField[] =>
  Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value] as const)

const field = (name: string, value: string | undefined): RunField[] => (value === undefined ? [] : [[name, value]])
