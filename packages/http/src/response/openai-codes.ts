import type { ErrorCode } from '@perdure/protocol'

/** The codes that clients of OpenAI compare with. Every other error has the code of the error table. */
const CODES: { readonly [Code in ErrorCode]?: string } = {
  'agent-not-found': 'model_not_found',
  'workflow-not-found': 'model_not_found',
  'auth-required': 'invalid_api_key',
  'auth-invalid': 'invalid_api_key',
  'rate-limit-exceeded': 'rate_limit_exceeded',
  'unsupported-parameter': 'unsupported_parameter',
}

/** The code of an error in an answer to an OpenAI client. */
export const openaiCodeOf = (code: ErrorCode): string => CODES[code] ?? code
