import type { RunEnd } from './response-object.ts'

/** The error after which a client must not use what it has read. */
export const RESTARTED = {
  ...{ message: 'the run was restarted and says its answer again', type: 'server_error', param: null },
  code: 'stream_restarted',
}

/** The error of an answer whose run has not completed. */
export const failureOf = ({ code, message }: RunEnd) => ({ message, type: 'server_error', param: null, code })
