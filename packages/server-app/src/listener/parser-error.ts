import type { Duplex } from 'node:stream'
import { AppError } from '@perdure/ports'
import { refuseOn } from './refuse.ts'
import { writeDueAnswers } from './send-answer.ts'
import type { Unanswered } from './unanswered.ts'
import { unreadable } from './unreadable-request.ts'

const PARSER_ERRORS: Readonly<Record<string, () => AppError>> = {
  HPE_HEADER_OVERFLOW: () => new AppError('headers-too-large', { message: 'the header block is too large' }),
  ERR_HTTP_REQUEST_TIMEOUT: () => new AppError('request-timeout'),
}

/**
 * What Node's HTTP parser refuses still gets the envelope, unless it would answer a request that came before, which is then
 * the last.
 */
export function answerParserError(error: NodeJS.ErrnoException, socket: Duplex, unanswered: Unanswered): void {
  const { code = '' } = error
  writeDueAnswers()
  if (code === 'ECONNRESET' || !socket.writable) socket.destroy()
  else if (unanswered.isOwedOn(socket)) unanswered.endAfterAnswers(socket)
  else refuseOn(socket, PARSER_ERRORS[code]?.() ?? unreadable('the request is not well-formed HTTP'))
}
