import type { HookVerdict } from '@perdure/ports'
import { jsonObjectIn, textMember } from './body-member.ts'
import { decodeAll, isSigned, missing, signatureOf, timeProblem, utf8, WRONG_SIGNATURE } from './hmac-signature.ts'
import { DEFAULT_TOLERANCE_SECONDS, type Platform } from './platform.ts'

const PREFIX = 'v0='
const contentOf = (timestamp: string, body: string | Uint8Array) =>
  ({ algorithm: 'sha256', pieces: [`v0:${timestamp}:`, body] }) as const

/** https://docs.slack.dev/authentication/verifying-requests-from-slack: events, commands and interactions. */
export const slack: Platform = {
  open: (toleranceSeconds = DEFAULT_TOLERANCE_SECONDS) => ({
    headers: ['x-slack-request-timestamp', 'x-slack-retry-num', 'x-slack-retry-reason'],
    async verify({ header, body, secrets, now }) {
      const [timestamp, signature] = [header('x-slack-request-timestamp'), header('x-slack-signature')]
      if (timestamp === undefined) return missing('X-Slack-Request-Timestamp')
      if (signature === undefined) return missing('X-Slack-Signature')
      const given = signature.startsWith(PREFIX) ? [signature.slice(PREFIX.length)] : []
      if (!isSigned(contentOf(timestamp, body), secrets.map(utf8), decodeAll(given, 'hex'))) return WRONG_SIGNATURE
      return timeProblem(timestamp, { now, toleranceSeconds }) ?? verdictOf(body)
    },
    sign({ body, now }, secret) {
      const timestamp = String(Math.floor(now / 1_000))
      return {
        'x-slack-request-timestamp': timestamp,
        'x-slack-signature': `${PREFIX}${signatureOf(contentOf(timestamp, body), utf8(secret), 'hex')}`,
      }
    },
  }),
}

/** Events have an `event_id`; commands and interactions, which are forms, have a `trigger_id` or none. */
function verdictOf(body: Uint8Array): HookVerdict {
  const event = jsonObjectIn(body)
  const challenge = event?.type === 'url_verification' ? textMember(event, 'challenge') : undefined
  if (challenge !== undefined) return { kind: 'verified', challenge }
  const form = event === undefined ? new URLSearchParams(new TextDecoder().decode(body)) : undefined
  const payload = form?.get('payload')
  const interaction = payload ? jsonObjectIn(utf8(payload)) : undefined
  const deliveryId = textMember(event, 'event_id') ?? form?.get('trigger_id') ?? textMember(interaction, 'trigger_id')
  return { kind: 'verified', deliveryId: deliveryId || undefined }
}
