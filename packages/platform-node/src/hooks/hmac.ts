import type { HookVerifier } from '@perdure/ports'
import type { HookHmac } from '@perdure/protocol'
import { decodeAll, isSigned, missing, signatureOf, timeProblem, WRONG_SIGNATURE } from './hmac-signature.ts'
import { DEFAULT_TOLERANCE_SECONDS } from './platform.ts'

interface Placeholders {
  readonly timestamp: string
  readonly id: string
  readonly body: string | Uint8Array
}

const FORMS = { utf8: /./, hex: /^(?:[0-9a-fA-F]{2})+$/, base64: /^[A-Za-z0-9+/_-]{2,}={0,2}$/ }

/** Whether the whole secret is in its encoding: decoding stops silently at the first other character. */
const isEncoded = (secret: string, { secretEncoding }: HookHmac): boolean => FORMS[secretEncoding].test(secret)

/** @throws Error whose message names the problem, if a secret is not in its encoding */
export function checkHmacSecrets(spec: HookHmac, secrets: readonly string[]): void {
  if (secrets.every((secret) => isEncoded(secret, spec))) return
  throw new Error(`the secret is not ${spec.secretEncoding}, as verify.secretEncoding says`)
}

/** Verifies an HMAC that the configuration describes. */
export function hmac(spec: HookHmac, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS): HookVerifier {
  const { header: name, algorithm, encoding, prefix, payload, timestampHeader, timestampUnit, idHeader } = spec
  const unitMs = timestampUnit === 'seconds' ? 1_000 : 1
  const fitting = (secrets: readonly string[]) => secrets.filter((secret) => isEncoded(secret, spec))
  const keyOf = (secret: string) => Buffer.from(secret, spec.secretEncoding)
  const parts = payload.split(/(\{body\}|\{timestamp\}|\{id\})/).filter((part) => part !== '')
  const contentOf = ({ timestamp, id, body }: Placeholders) => {
    const values: Readonly<Record<string, string | Uint8Array>> = {
      '{timestamp}': timestamp,
      '{id}': id,
      '{body}': body,
    }
    return { algorithm, pieces: parts.map((part) => values[part] ?? part) }
  }

  return {
    headers: [idHeader, timestampHeader].filter((header) => header !== undefined),
    async verify({ header, body, secrets, now }) {
      const absent = [name, timestampHeader, idHeader].find(
        (wanted) => wanted !== undefined && header(wanted) === undefined,
      )
      if (absent !== undefined) return missing(absent)
      const textOf = (wanted: string | undefined) => (wanted === undefined ? '' : (header(wanted) ?? ''))
      const [signature, timestamp, id] = [textOf(name), textOf(timestampHeader), textOf(idHeader)]
      const given = signature.startsWith(prefix) ? [signature.slice(prefix.length)] : []
      const content = contentOf({ timestamp, id, body })
      if (!isSigned(content, fitting(secrets).map(keyOf), decodeAll(given, encoding))) return WRONG_SIGNATURE
      const problem =
        timestampHeader === undefined ? undefined : timeProblem(timestamp, { now, toleranceSeconds, unitMs })
      return problem ?? { kind: 'verified', deliveryId: id || undefined }
    },
    sign({ deliveryId, body, now }, secret) {
      const timestamp = String(Math.floor(now / unitMs))
      const content = contentOf({ timestamp, id: deliveryId, body })
      return {
        ...(timestampHeader === undefined ? {} : { [timestampHeader]: timestamp }),
        ...(idHeader === undefined ? {} : { [idHeader]: deliveryId }),
        [name]: `${prefix}${signatureOf(content, keyOf(secret), encoding)}`,
      }
    },
  }
}
