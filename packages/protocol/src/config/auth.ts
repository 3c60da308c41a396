import * as v from 'valibot'
import { JwtIssuers } from './jwt.ts'
import { field, optionalField, section } from './section.ts'
import { boolean, SecretReference } from './values.ts'

export const AuthSection = section({
  kind: field(v.picklist(['token', 'none']), 'token', {
    note: 'token: require a bearer token; none: require no credentials, for trusted use on loopback.',
  }),
  pepperRef: optionalField(SecretReference, {
    note: 'Secret reference to the HMAC pepper, at least 32 bytes; required with auth.kind token.',
  }),
  previousPepperRefs: field(v.array(SecretReference), [], {
    note: 'Secret references to earlier peppers; tokens created with these stay valid.',
  }),
  jwt: field(JwtIssuers, [], {
    note: 'Issuers whose JWTs are accepted besides tokens, with auth.kind token. Each has `id`, `issuer`, `audience`, `keys` (`{ secretRef }` or `{ jwksUrl }`), `algorithms` and `scopes`, and optionally `subject`, `maxScopes`, `claims`, `typ`, `maxAge` and `clockTolerance`.',
  }),
  lockout: section({
    blockValid: field(boolean, false, {
      note: 'Whether a locked-out address is refused even with a valid token.',
    }),
  }),
  allowNoneOnNetwork: field(boolean, false, { note: 'Allow auth.kind none on an address other than loopback.' }),
})
