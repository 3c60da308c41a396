import { type EpochMs, fromJsonText, type MessageRecord, type SessionRecord } from '@perdure/ports'

/** The session as the API returns it. */
export const toSessionResource = ({ createdAt, updatedAt, ...session }: SessionRecord) => ({
  ...session,
  createdAt: toIso(createdAt),
  updatedAt: toIso(updatedAt),
})

/** A message of the transcript as the API returns it. */
export const toMessageResource = ({ id, seq, role, content, runId, createdAt }: MessageRecord) => ({
  ...{ id, seq, role, content: fromJsonText(content), runId },
  createdAt: toIso(createdAt),
})

export type SessionResource = ReturnType<typeof toSessionResource>
export type MessageResource = ReturnType<typeof toMessageResource>

const toIso = (at: EpochMs) => new Date(at).toISOString()
