import { canonicalJson, type Digest, fromJsonText, toJsonText } from '@perdure/ports'

/** What a person decides on. The title is not part of it: it only describes the request. */
export interface Asked {
  readonly payload?: unknown
  /** The arguments of the tool call that requires the approval. */
  readonly args?: unknown
}

/** A decision counts only for a request with the same hash. */
export const askedHashOf = (digest: Pick<Digest, 'sha256'>, { payload, args }: Asked): string =>
  digest.sha256(canonicalJson(fromJsonText(toJsonText({ payload, args }))))
