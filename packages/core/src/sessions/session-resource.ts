import {
  type EpochMs,
  fromJsonText,
  type MessageRecord,
  type OutlinedMessage,
  type SessionRecord,
} from '@perdure/ports'
import type { PageItem } from '../json/json-page.ts'
import { jsonPieces } from '../json/json-pieces.ts'

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

/** A message of the transcript as JSON. */
export const renderMessage = (
  { id, seq, role, content, runId, createdAt }: OutlinedMessage,
  isWithdrawn: boolean,
): PageItem =>
  jsonPieces(
    { id, seq, role, runId, createdAt: toIso(createdAt), withdrawn: isWithdrawn ? true : undefined },
    { content },
  )

export type SessionResource = ReturnType<typeof toSessionResource>
export type MessageResource = ReturnType<typeof toMessageResource>

const toIso = (at: EpochMs) => new Date(at).toISOString()
