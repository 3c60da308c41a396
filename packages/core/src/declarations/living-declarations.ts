import { canonicalJson, type Digest, type NodeDirectory, nodeDeclaration } from '@perdure/ports'
import type { DeclaredNoun } from './declared-nouns.ts'

/** What the other living processes declare. A process of an earlier release does not tell, and may declare everything. */
export interface OtherDeclarations {
  has(noun: DeclaredNoun, id: string): boolean
  hasExactly(noun: DeclaredNoun, id: string, fingerprint: string): boolean
  /** The value that each of them declares under this id; `undefined` for one that declares none. */
  values(noun: DeclaredNoun, id: string): readonly (string | undefined)[]
  /** Whether each of them tells what it declares. */
  readonly areKnown: boolean
}

export interface LivingDeclarationsDeps {
  /** Missing if no other process uses the storage. */
  readonly nodes?: Pick<NodeDirectory, 'list'> | undefined
  readonly executor?: string | undefined
}

export async function readOtherDeclarations({ nodes, executor }: LivingDeclarationsDeps): Promise<OtherDeclarations> {
  const listed = nodes === undefined ? [] : await nodes.list()
  const others = listed.filter(({ id }) => id !== executor).map(({ declares }) => declares)
  const some = (accepts: (declared: string) => boolean) =>
    others.some((declares) => declares === undefined || declares.some(accepts))
  return {
    has: (noun, id) => some((declared) => declared.startsWith(nodeDeclaration(noun, id))),
    hasExactly: (noun, id, fingerprint) => some((declared) => declared === nodeDeclaration(noun, id, fingerprint)),
    values(noun, id) {
      const start = nodeDeclaration(noun, id)
      return others.map((declares) => declares?.find((one) => one.startsWith(start))?.slice(start.length))
    },
    areKnown: !others.includes(undefined),
  }
}

const FINGERPRINT_DIGITS = 16

/** Equal exactly for equal definitions. */
export const fingerprintOf = (digest: Pick<Digest, 'sha256'>, definition: unknown): string =>
  digest.sha256(canonicalJson(definition)).slice(0, FINGERPRINT_DIGITS)
