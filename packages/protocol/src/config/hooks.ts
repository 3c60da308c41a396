import * as v from 'valibot'
import { OperatorId } from '../ids.ts'
import type { HookRequest, HookVerification, IncomingDelivery } from '../incoming-delivery.ts'
import { isPlainObject, strictObject } from '../plain-object.ts'
import { EmittedEventName } from '../resources/named-events.ts'
import { JWT_ALGORITHMS } from './jwt.ts'
import { SecretReference } from './values.ts'

/** The platforms whose signatures the server can verify by name. */
export const HOOK_PLATFORMS = ['standard-webhooks', 'github', 'stripe', 'slack', 'linear', 'shopify'] as const
export const HOOK_PLATFORM_LIST = HOOK_PLATFORMS.map((name) => `'${name}'`).join(', ')
export type HookPlatform = (typeof HOOK_PLATFORMS)[number]

const text = (maxLength: number) => {
  const message = `must be a text of 1 to ${maxLength} characters`
  return v.pipe(v.string(message), v.minLength(1, message), v.maxLength(maxLength, message))
}
const headerName = v.pipe(
  v.string('must be the name of a header'),
  v.regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header'),
  v.toLowerCase(),
)
const functionOf = <Argument, Result>(what: string) =>
  v.custom<(argument: Argument) => Result>((value) => typeof value === 'function', `must be a function of the ${what}`)

const Hmac = strictObject({
  kind: v.literal('hmac'),
  /** The header with the signature. */
  header: headerName,
  algorithm: v.optional(
    v.picklist(['sha1', 'sha256', 'sha384', 'sha512'], 'must be sha1, sha256, sha384 or sha512'),
    'sha256',
  ),
  encoding: v.optional(v.picklist(['hex', 'base64'], 'must be hex or base64'), 'hex'),
  /** What precedes the signature in its header, such as `sha256=`. */
  prefix: v.optional(v.string('must be a text'), ''),
  /** The signed text, with placeholders. */
  payload: v.optional(
    v.pipe(
      v.string('must be a text'),
      v.check((value) => value.split('{body}').length === 2, 'must be a text that contains {body} once'),
    ),
    '{body}',
  ),
  timestampHeader: v.optional(headerName),
  timestampUnit: v.optional(v.picklist(['seconds', 'milliseconds'], 'must be seconds or milliseconds'), 'seconds'),
  /** The header with the id under which the sender repeats a delivery. */
  idHeader: v.optional(headerName),
  secretEncoding: v.optional(v.picklist(['utf8', 'hex', 'base64'], 'must be utf8, hex or base64'), 'utf8'),
})

export type HookHmac = v.InferOutput<typeof Hmac>

const Jwt = strictObject({
  kind: v.literal('jwt'),
  /** The header with the JWT, alone or after `Bearer`. */
  header: v.optional(headerName, 'authorization'),
  issuer: text(512),
  audience: text(512),
  algorithms: v.pipe(
    v.array(v.picklist(JWT_ALGORITHMS, `must be one of ${JWT_ALGORITHMS.join(', ')}`), 'must be a list of algorithms'),
    v.minLength(1, 'must be a list of at least one algorithm'),
  ),
  /** Where the issuer publishes its keys. Without it, `secretRef` refers to the secret or the public key. */
  jwksUrl: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^https:\/\/[^\s/?#@\\]+(?:[/?][^\s#@\\]*)?$/, 'must be an https: URL without credentials'),
    ),
  ),
  /** The claim with the SHA-256 of the body, in hex, base64 or base64url. Without it, the JWT does not cover the body. */
  bodyHashClaim: v.optional(text(128)),
})

export type HookJwt = v.InferOutput<typeof Jwt>

const NOT_A_VERIFIER = `must be ${HOOK_PLATFORM_LIST}, { kind: 'hmac' }, { kind: 'jwt' } or a function`

const Verify = v.lazy((input) => {
  if (typeof input === 'function')
    return functionOf<HookRequest, HookVerification | Promise<HookVerification>>('request')
  if (isPlainObject(input) && input.kind === 'hmac') return Hmac
  if (isPlainObject(input) && input.kind === 'jwt') return Jwt
  return v.picklist(HOOK_PLATFORMS, NOT_A_VERIFIER)
}) as v.GenericSchema<HookVerifyInput, HookVerify>

type VerifyFunction = (request: HookRequest) => HookVerification | Promise<HookVerification>

/** How the requests of a hook are verified. */
export type HookVerify = HookPlatform | HookHmac | HookJwt | VerifyFunction
type HookVerifyInput = HookPlatform | v.InferInput<typeof Hmac> | v.InferInput<typeof Jwt> | VerifyFunction

type OfDelivery<Result> = (delivery: IncomingDelivery) => Result

const input = v.optional(functionOf<IncomingDelivery, unknown>('delivery'))
const sessionId = v.optional(
  v.lazy((value) =>
    typeof value === 'function' ? functionOf<IncomingDelivery, string | undefined>('delivery') : OperatorId,
  ) as v.GenericSchema<string | OfDelivery<string | undefined>>,
)
const ToAgent = strictObject({ agent: OperatorId, input, sessionId })
const ToWorkflow = strictObject({ workflow: OperatorId, input, sessionId })
const ToEvent = strictObject({
  event: EmittedEventName,
  input,
  /** The path of a member of the body, such as `data.object.id`, or a function of the delivery. */
  key: v.optional(
    v.lazy((value) =>
      typeof value === 'function' ? functionOf<IncomingDelivery, string | undefined>('delivery') : text(256),
    ) as v.GenericSchema<string | OfDelivery<string | undefined>>,
  ),
})

type To = typeof ToAgent | typeof ToWorkflow | typeof ToEvent

const TARGETS: readonly (readonly [member: string, schema: To])[] = [
  ['agent', ToAgent],
  ['workflow', ToWorkflow],
  ['event', ToEvent],
]

/** Picks the form by its members, so that a message names the member at fault. */
const Target = v.lazy((value) => {
  const named = isPlainObject(value) ? TARGETS.filter(([member]) => member in value) : []
  const [only] = named
  if (named.length === 1 && only !== undefined) return only[1]
  return v.never('must be an object with exactly one of agent, workflow and event')
}) as v.GenericSchema<v.InferInput<To>, v.InferOutput<To>>

/** What a hook does with its deliveries. */
export type HookTarget = v.InferOutput<typeof Target>

const MAX_SECRETS = 4
const SecretReferences = v.lazy((value) =>
  Array.isArray(value)
    ? v.pipe(
        v.array(SecretReference),
        v.minLength(1, 'must be a list of at least one secret reference'),
        v.maxLength(MAX_SECRETS, `must be a list of at most ${MAX_SECRETS} secret references`),
      )
    : SecretReference,
) as v.GenericSchema<string | readonly string[]>

const NOT_A_TOLERANCE = 'must be a whole number of seconds from 1 to 3600'
const tolerance = v.pipe(
  v.number(NOT_A_TOLERANCE),
  v.integer(NOT_A_TOLERANCE),
  v.minValue(1, NOT_A_TOLERANCE),
  v.maxValue(3_600, NOT_A_TOLERANCE),
)

const Hook = strictObject({
  /** The last segment of the URL. The id of the trigger that the hook declares is `hook-` and this id. */
  id: v.pipe(
    v.string('must be a text'),
    v.regex(
      /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
      'must be at most 64 letters, digits, "_" or "-", with a letter or digit first',
    ),
  ),
  verify: Verify,
  secretRef: v.optional(SecretReferences),
  toleranceSeconds: v.optional(tolerance),
  headers: v.optional(
    v.pipe(
      v.array(headerName, 'must be a list of names of headers'),
      v.maxLength(32, 'must be a list of at most 32 names'),
    ),
    [],
  ),
  to: v.optional(Target),
})

type HookFields = v.InferOutput<typeof Hook>

const needsSecret = ({ verify }: HookFields): boolean =>
  typeof verify === 'string' || (typeof verify === 'object' && (verify.kind === 'hmac' || verify.jwksUrl === undefined))

const hmacProblem = ({ verify }: HookFields): string | undefined => {
  if (typeof verify !== 'object' || verify.kind !== 'hmac') return undefined
  const { payload, timestampHeader, idHeader } = verify
  if (payload.includes('{timestamp}') && timestampHeader === undefined)
    return 'must be set: payload contains {timestamp}'
  return payload.includes('{id}') && idHeader === undefined ? 'must be set: payload contains {id}' : undefined
}

const DENIED_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

/** A hook: an address at which the server receives signed requests of another service. */
export const HookConfig = v.pipe(
  Hook,
  v.forward(
    v.check(
      (hook) => !needsSecret(hook) || hook.secretRef !== undefined,
      'must be set: a secret reference such as env:NAME, or a list of them',
    ),
    ['secretRef'],
  ),
  v.forward(
    v.check(
      (hook) => hmacProblem(hook) === undefined,
      ({ input: hook }) => `${hmacProblem(hook as HookFields)}`,
    ),
    ['verify'],
  ),
  v.forward(
    v.check(({ headers }) => !headers.some((name) => DENIED_HEADERS.has(name)), 'must be headers without credentials'),
    ['headers'],
  ),
)
export type HookConfig = v.InferOutput<typeof HookConfig>

/** The hooks of a server. */
export const HookConfigs = v.pipe(
  v.array(HookConfig),
  v.check((hooks) => new Set(hooks.map(({ id }) => id)).size === hooks.length, 'must be hooks with different ids'),
)
