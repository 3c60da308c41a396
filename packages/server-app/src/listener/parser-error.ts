import type { Duplex } from 'node:stream'
import { perdureError, type Refusal } from '@perdure/ports'
import type { AnswerWriter } from './answer-writer.ts'
import type { OpenRequests } from './open-requests.ts'
import { refuseOnSocket } from './refuse.ts'
import { unreadable } from './unreadable-request.ts'

export interface ParserErrorDeps {
  readonly answers: Pick<AnswerWriter, 'flush'>
  readonly openRequests: Pick<OpenRequests, 'isOccupied' | 'endAfterAnswers'>
}

const PARSER_ERRORS: Readonly<Record<string, () => Refusal>> = {
  HPE_HEADER_OVERFLOW: () => perdureError('headers-too-large', { message: 'the header block is too large' }),
  ERR_HTTP_REQUEST_TIMEOUT: () => perdureError('request-timeout'),
}

/**
 * Sends the error envelope for a request that Node's HTTP parser rejects. If an earlier request on the connection is
 * still open, the client would take the envelope for the answer to that request, so the connection ends after the open
 * answers instead.
 */
export function answerParserError(error: NodeJS.ErrnoException, socket: Duplex, deps: ParserErrorDeps): void {
  const { code = '' } = error
  const { answers, openRequests } = deps
  answers.flush()
  if (code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else if (openRequests.isOccupied(socket)) openRequests.endAfterAnswers(socket)
  else refuseOnSocket(socket, PARSER_ERRORS[code]?.() ?? unreadable('the request is not well-formed HTTP'))
}
