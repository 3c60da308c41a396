import * as v from 'valibot'
import { isGrantable } from '../scopes.ts'
import { isSymmetric, JWT_ALGORITHMS, KEY_SET_URL } from './jwt.ts'
import { field, optionalField, section } from './section.ts'
import { boolean, SecretReference, secondsFrom, strings } from './values.ts'

/** The algorithms with which a provider can sign ID tokens: its keys are public. */
const ID_TOKEN_ALGORITHMS = JWT_ALGORITHMS.filter((algorithm) => !isSymmetric(algorithm))

const MAX_SESSION_SECONDS = 43_200

/** The end of the redirect URL: the page of the console to which the provider sends the browser back. */
export const CONSOLE_CALLBACK = '/console/callback'

const providerUrl = v.pipe(
  v.string(),
  v.regex(KEY_SET_URL, 'must be an https: URL without credentials; http: is allowed only for a loopback host'),
)

const REDIRECT_URL =
  /^(?:https:\/\/[^\s/?#@\\]+|http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?)(?:\/[\w.~-]+)*\/console\/callback$/

const name = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.regex(/^[!-~]+$/, 'must be visible ASCII characters'),
    v.maxLength(maxLength, `must have at most ${maxLength} characters`),
  )

const Roles = v.record(
  v.string(),
  v.pipe(
    v.array(v.pipe(v.string(), v.check(isGrantable, 'must be a scope of the scopes reference'))),
    v.minLength(1, 'must be a list of at least one scope'),
  ),
)

export const ConsoleSection = section({
  enabled: field(boolean, false, {
    note: 'Whether the server serves the web console, at `/console` next to the base path. perdure dev serves it unless this is false.',
  }),
  readOnly: field(boolean, false, {
    note: 'Whether the server refuses every change that a session of the console requests. Requests with an API token are not affected.',
  }),
  oidc: section({
    issuer: optionalField(providerUrl, {
      note: 'Issuer of the OpenID Connect provider with which users sign in to the console, such as https://login.example.com; needs the package openid-client, clientId, redirectUrl and roles.',
    }),
    id: field(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/, 'must look like sso')), 'sso', {
      note: 'Part of the subjects of these users, `oidc:<id>:<sub>`. Permanent; change it only together with the issuer.',
    }),
    clientId: optionalField(name(256), { note: 'Id of the server as a client of the provider.' }),
    clientSecretRef: optionalField(SecretReference, {
      note: 'Secret reference to the client secret; a public client, which has only PKCE, when not set.',
    }),
    redirectUrl: optionalField(
      v.pipe(v.string(), v.regex(REDIRECT_URL, `must be an https: or loopback URL that ends with ${CONSOLE_CALLBACK}`)),
      {
        note: 'URL that is registered with the provider, such as https://perdure.example.com/console/callback: the address of the console in the browser, followed by callback.',
      },
    ),
    scopes: field(strings, ['openid', 'profile'], {
      note: 'Scopes to request from the provider, so that the ID token or the userinfo endpoint has the claim with the roles.',
    }),
    claim: field(name(256), 'roles', { note: 'Claim with the roles of the user: a list, or a text with spaces.' }),
    roles: optionalField(Roles, {
      note: 'Scopes that each role grants, such as {"operators": ["runs:read", "approvals:resolve"]}. Other roles grant nothing, and a user without any of these roles cannot sign in.',
    }),
    algorithm: field(v.picklist(ID_TOKEN_ALGORITHMS), 'RS256', {
      note: 'Algorithm with which the provider signs ID tokens.',
    }),
    sessionSeconds: field(
      v.pipe(secondsFrom(60), v.maxValue(MAX_SESSION_SECONDS, `must be at most ${MAX_SESSION_SECONDS} seconds`)),
      3_600,
      {
        note: 'How long a session lasts until the user signs in again, which reads the roles again; at most 12 hours.',
      },
    ),
  }),
})
