"""The data endpoints of ten recorded files, read off them by hand: every request that a person who describes the interfaces would
list. Left out are advertising, measuring and consent services, and files of the program.

`{}` is a segment that is a value by its look or its neighbours; `~word` is one that a single call cannot tell, either is right.
`#name` is an operation of GraphQL. Hosts stand for the paths that follow.
"""

TRUTH = {
    "petstore-swagger-fullpage-available-rich": """
petstore.swagger.io
GET /users/{}/albums
POST /bin/mgate.exe
GET /v2/store/inventory
GET /v2/user/~user1
GET /v2/pet/findByStatus
GET /v1/search
GET /v2/pet/{}
GET /api/remote-jobs
GET /api-mocking/api/v1/fruits
POST /v2/store/order
GET /api/v2/public/get_instruments
GET /v1/dataset
GET /entrez/eutils/esummary.fcgi
""",
    "sourcegraph-supported-models-rich": """
sourcegraph.sourcegraph.com
GET /v1/species/suggest
GET /.api/client-config
GET /api/remote-jobs
POST /.api/completions/stream
POST /.api/graphql#CodeSearchEnabled
POST /.api/graphql#ContextFilters
POST /.api/graphql#CurrentSiteCodyLlmConfiguration
POST /.api/graphql#CurrentSiteCodyLlmProvider
POST /.api/graphql#CurrentUser
POST /.api/graphql#SiteProductVersion
POST /.api/graphql#ViewerSettings
POST /#media
GET /1.1/users/search.json
GET /.api/modelconfig/supported-models.json
GET /api-mocking/api/v1/fruits
GET /api/v4/projects/{}
POST /api/bcsearch_public_api/1/autocomplete_elastic
POST /youtubei/v1/next
www.sourcegraph.com
POST /bkv2/api/init/accesstoken/check
GET /api/tags
GET /api/branding
GET /users/me
GET /brands
POST /wp-admin/admin-ajax.php
publish.twitter.com
GET /oembed
ogs.google.com
POST /u/~0/_/notifications/count
""",
    "hn-algolia-search-comments-rich": """
hn.algolia.com
GET /ISteamWebAPIUtil/GetSupportedAPIList/v1/
GET /cdo-web/api/v2/data
GET /cdo-web/api/v2/datasets
GET /prod/quotes
GET /.api/modelconfig/supported-models.json
GET /api/remote-jobs
GET /api/v1/search
GET /forecast/{}/{}
GET /entrez/eutils/esummary.fcgi
www.algolia.com
GET /proxy/spiking-stories
GET /brands
publish.twitter.com
GET /oembed
ogs.google.com
POST /u/~0/_/notifications/count
""",
    "youtube-comments-siblings": """
www.youtube.com
POST /youtubei/v1/search
POST /youtubei/v1/browse
POST /youtubei/v1/next
suggestqueries-clients6.youtube.com
GET /complete/search
""",
    "soundcloud-search-tracks-rich": """
api-v2.soundcloud.com
GET /search/tracks
GET /v1/observations
GET /tiingo/news
GET /.api/modelconfig/supported-models.json
GET /api/markets
GET /api/search
GET /ws/occurrences/search
GET /api/broadcast/search
POST /api/data/search
""",
    "bandcamp-featured-siblings": """
bandcamp.com
POST /api/mobile/24/bootstrap_data
GET /api/mobile/24/feed_older_logged_out
POST /api/bcsearch_public_api/1/autocomplete_elastic
""",
    "musicbrainz-release-rich": """
musicbrainz.org
POST /youtubei/v1/next
GET /v1/literature/search
GET /1.0/repositories/~ecollins/~passlib/issues
GET /1.1/users/search.json
GET /api/v1/search_by_date
GET /api/
GET /tiingo/daily/~GOOGL/prices
GET /ws/2/release/{}
www.musicbrainz.org
POST /bkv2/api/init/accesstoken/check
GET /brands
GET /api/coral-counts
GET /api/tags
GET /api/branding
netpreserveblog.wordpress.com
GET /{}/{}/{}/~warc-10th-anniversary/
www.google.de
GET /async/eobc
ogs.google.com
POST /u/~0/_/notifications/count
api.twitter.com
POST /1.1/guest/activate.json
""",
    "jsonplaceholder-pollyjs-puppeteer": """
jsonplaceholder.typicode.com
GET /posts
GET /users
GET /todos
www.typicode.com
GET /tags
GET /api/tags
GET /brands
POST /bkv2/api/init/accesstoken/check
GET /users/me
www.google.com
GET /complete/search
""",
    "spotify-playlist-search-rich": """
api.spotify.com
GET /ITISWebService/jsonservice/getITISTermsFromScientificName
POST /.api/graphql#Repositories
GET /tiingo/news
GET /p2/~drewm/~mailchimp-api.json
GET /v1/search
GET /1.1/users/search.json
GET /v1/users/~whytho/playlists/{}
GET /public/conferences
GET /dist/index.json
POST /#media
www.spotify.com
POST /bkv2/api/init/accesstoken/check
GET /brands
accounts.spotify.com
POST /api/token
edition.spotify.com
GET /data/ocs/section/_homepage-zone-injection/~index.html:homepage-injection-zone-3/views/zones/common/zone-manager.izl
GET /data/ocs/section/~index.html:intl_homepage1-zone-2/views/zones/common/zone-manager.izl
weather.api.cnn.io
GET /graphql#wsiForecast
ogads-pa.clients6.google.com
POST /$rpc/google.internal.onegoogle.asyncdata.v1.AsyncDataService/GetAsyncData
publish.twitter.com
GET /oembed
""",
    "quotable-quotes": """
www.amazonaws.com
GET /api/taxonomy/autodata-trims
GET /api/taxonomy/models-by-year-make
GET /api/taxonomy/combined-makes
GET /api/taxonomy/usedyears
GET /api/taxonomy/makes-by-year
GET /api/taxonomy/newmake
GET /api/branding
GET /api/tags
GET /users/me
f0qfne0emk.execute-api.us-west-2.amazonaws.com
GET /prod/quotes
quotable.apilab.io
GET /quotes/{}
GET /authors/{}
GET /tags
api.twitter.com
POST /1.1/guest/activate.json
publish.twitter.com
GET /oembed
ogads-pa.clients6.google.com
POST /$rpc/google.internal.onegoogle.asyncdata.v1.AsyncDataService/GetAsyncData
netpreserveblog.wordpress.com
GET /{}/{}/{}/~warc-10th-anniversary/
""",
    "made": """
shop.test
GET /api/users/{}
GET /api/users/{}/orders
GET /api/users/me
DELETE /api/users/{}
GET /api/items/{}
GET /api/items/{}/reviews
GET /api/items/search
GET /api/articles/{}
GET /api/articles/latest
GET /api/repos/{}/{}/issues
GET /api/days/{}
GET /api/2/search
GET /files/{}.json
POST /api/orders
PUT /api/orders/{}
POST /graphql#GetUser
POST /graphql#Search
POST /graphql#AddToCart
POST /rpc#getBlock
POST /rpc#getBalance
GET /api.php#query
GET /api.php#parse
POST /upload
GET /export/orders.csv
api.shop.test
GET /api/items/search
GET /prices
""",
}


def endpoints(name):
    """`(method, host, segments, operation)` of each."""
    out, host = [], None
    for line in TRUTH[name].split("\n"):
        if not line:
            continue
        if line.startswith(("GET ", "POST ", "PUT ", "DELETE ")):
            method, path = line.split(" ", 1)
            path, _, operation = path.partition("#")
            out.append((method, host, tuple(path.strip("/").split("/")), operation))
        else:
            host = line
    return out
