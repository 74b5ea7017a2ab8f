# The built server and the command line: docker build --tag airtill .
# src/docs/install.md explains how to run it.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
# These are for building and for pages only. Once they are no dependencies, the build contains its part of them, and
# npm removes them; it would keep those that others name as peers. A test holds that the command line loads none
# (tests/unit/project/imports.test.ts).
RUN npm pkg delete \
	dependencies.@inlang/paraglide-js \
	dependencies.@inlang/plugin-message-format \
	dependencies.@sveltejs/adapter-node \
	dependencies.@sveltejs/kit \
	dependencies.@sveltejs/vite-plugin-svelte \
	dependencies.leaflet \
	dependencies.node \
	dependencies.protomaps-leaflet \
	dependencies.supercluster \
	dependencies.svelte \
	dependencies.swagger-ui-dist \
	dependencies.vite \
	&& npm run build
RUN npm pkg delete devDependencies \
	&& npm prune --omit=peer \
	&& find build node_modules '(' -name '*.map' -o -name '*.d.*ts' ')' -delete

FROM debian:bookworm-slim
# openssl: `personal-data export`. `backup` and `restore` of PostgreSQL need postgresql-client too, which brings Perl.
ARG PACKAGES=openssl
RUN apt-get update \
	&& apt-get install --yes --no-install-recommends $PACKAGES \
	&& rm -rf /var/lib/apt/lists/*
RUN useradd --uid 1000 --home-dir /data airtill \
	&& install --directory --owner=airtill --group=airtill --mode=700 /data \
	&& ln -s /app/src/cli/airtill.js /usr/local/bin/airtill
COPY --from=build /usr/local/bin/node /usr/local/bin/
COPY --from=build /app/package.json /app/
COPY --from=build /app/node_modules /app/node_modules
COPY --from=build /app/build /app/build
COPY --from=build /app/src /app/src
WORKDIR /app
ENV DATA_DIR=/data DATABASE_URL=file:/data/airtill.db MALLOC_ARENA_MAX=2
VOLUME /data
USER airtill
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1))"]
CMD ["node", "--max-semi-space-size=2", "--heap-growing-percent=30", "src/server.js"]
