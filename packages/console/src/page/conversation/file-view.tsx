import { useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { API_URL } from '../client/api-url.ts'
import { bytesText } from '../parts/bytes.ts'
import { useLoaded } from '../parts/use-loaded.ts'

export interface FileViewProps {
  readonly url?: string | undefined
  /** The content in base64, if the file has no URL. */
  readonly data?: string | undefined
  readonly mediaType: string
  readonly name?: string | undefined
}

/** Pictures that cannot contain code. Only these are shown; other files can be saved. */
const PICTURES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'])
const STORED = /^\/(?:[^?#\\]*\/)?files\/(file_[0-9A-Za-z]{1,64})$/
const DATA_URL = /^data:([a-z]+\/[a-z0-9.+-]+);base64,/
/** A larger picture inside of an event is named but not drawn. Characters of base64. */
const MAX_INLINE = 2_000_000

/** A file of a message. Nothing is loaded from another host. */
export function FileView({ url, data, mediaType, name }: FileViewProps) {
  const app = useApp()
  const id = STORED.exec(url ?? '')?.[1]
  if (id !== undefined && may(app, 'files:read')) return <StoredFile id={id} mediaType={mediaType} name={name} />
  const inline = data === undefined ? url : `data:${mediaType};base64,${data}`
  const type = DATA_URL.exec(inline ?? '')?.[1]
  if (inline !== undefined && type !== undefined) {
    const isShown = PICTURES.has(type) && inline.length <= MAX_INLINE
    return (
      <figure class="file">
        {isShown ? <Picture src={inline} name={name} /> : null}
        <figcaption>
          {name ?? type} <span class="quiet">{bytesText(Math.floor((inline.length * 3) / 4))}, in the message</span>
        </figcaption>
      </figure>
    )
  }
  return (
    <figure class="file">
      <figcaption>
        {name ?? mediaType}{' '}
        <span class="quiet">
          {id === undefined ? `not loaded, because it is on another host: ${(url ?? '').slice(0, 200)}` : 'a file'}
        </span>
      </figcaption>
    </figure>
  )
}

function StoredFile({ id, mediaType, name }: Pick<FileViewProps, 'mediaType' | 'name'> & { readonly id: string }) {
  const { client } = useApp()
  const { data: file, failure } = useLoaded(() => client.files.metadata(id), [id])
  const type = file?.mediaType ?? mediaType
  const shownName = file?.name ?? name ?? type
  const src = `${API_URL}/files/${id}`
  if (failure !== undefined) {
    return (
      <figure class="file">
        <figcaption>
          {shownName} <span class="quiet">{failure.message}</span>
        </figcaption>
      </figure>
    )
  }
  return (
    <figure class="file">
      {file !== undefined && PICTURES.has(type) ? <Picture src={src} name={shownName} /> : null}
      <figcaption>
        <a href={src} download={shownName} rel="noreferrer">
          {shownName}
        </a>{' '}
        <span class="quiet">{file === undefined ? type : `${type}, ${bytesText(file.size)}`}</span>
      </figcaption>
    </figure>
  )
}

function Picture({ src, name = 'picture' }: { readonly src: string; readonly name?: string | undefined }) {
  const [isBroken, setBroken] = useState(false)
  if (isBroken) return <p class="quiet">The picture cannot be shown.</p>
  return <img src={src} alt={name} loading="lazy" onError={() => setBroken(true)} />
}
